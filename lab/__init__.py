"""The lab: what the demo, the tests and the benchmarks run on."""
