#!/usr/bin/env bash
# Puts Debian's etcd where the tests look for it (test/support/etcd.ts). Nothing is installed on the machine.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=node_modules/.cache/etcd
[ -x "$folder/usr/bin/etcd" ] && exit 0
mkdir -p "$folder/download"
cd "$folder/download"
# A fresh machine knows of no packages yet.
apt-get download etcd-server || { apt-get update && apt-get download etcd-server; }
dpkg -x etcd-server_*.deb ..
../usr/bin/etcd --version
