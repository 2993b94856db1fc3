// monitoring-kinds reads objects of the Prometheus Operator as JSON lines, and says which of their fields it does not
// know or cannot read. It exits with 1 if there is one.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
)

const longest = 16 << 20 // bytes of one object

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, longest)
	code := 0
	for lines.Scan() {
		if problem := check(lines.Bytes()); problem != nil {
			fmt.Println(problem)
			code = 1
		}
	}
	if problem := lines.Err(); problem != nil {
		fmt.Fprintln(os.Stderr, problem)
		code = 2
	}
	os.Exit(code)
}

func check(line []byte) error {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if problem := json.Unmarshal(line, &head); problem != nil {
		return problem
	}
	kinds := map[string]any{
		"PodMonitor":     &monitoringv1.PodMonitor{},
		"PrometheusRule": &monitoringv1.PrometheusRule{},
		"ServiceMonitor": &monitoringv1.ServiceMonitor{},
	}
	kind, known := kinds[head.Kind]
	if !known || head.APIVersion != monitoringv1.SchemeGroupVersion.String() {
		return fmt.Errorf("%s %s is no kind of the Prometheus Operator's", head.APIVersion, head.Kind)
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if problem := decoder.Decode(kind); problem != nil {
		return fmt.Errorf("%s: %w", head.Kind, problem)
	}
	return nil
}
