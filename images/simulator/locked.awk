# From a lock file the packages that requirements.txt names, with their versions and hashes; exit 1 if one is missing.
# Usage: awk -f locked.awk requirements.txt requirements-dev.lock
NR == FNR { wanted[$1] = 1; next }
/^[^ #]/ { name = $1; sub(/[=\[].*/, "", name); taken = name in wanted; delete wanted[name] }
taken && !/^ *#/ { line = $0; lines[++count] = line }
END {
  for (name in wanted) { print "not in the lock file: " name > "/dev/stderr"; missing = 1 }
  for (i = 1; i <= count; i++) print lines[i]
  exit missing
}
