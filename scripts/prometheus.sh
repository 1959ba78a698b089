#!/usr/bin/env bash
# Puts Debian's prometheus and promtool where the tests look for them (test/support/find-tools.ts). Nothing is installed on the machine.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=node_modules/.cache/prometheus
[ -x "$folder/usr/bin/prometheus" ] && [ -x "$folder/usr/bin/promtool" ] && exit 0
mkdir -p "$folder/download"
cd "$folder/download"
# A fresh machine knows of no packages yet.
apt-get download prometheus || { apt-get update && apt-get download prometheus; }
for package in *.deb; do dpkg -x "$package" ..; done
../usr/bin/prometheus --version
