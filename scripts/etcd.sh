#!/usr/bin/env bash
# Puts Debian's etcd and etcdctl where the tests look for them (test/support/find-etcd.ts). Nothing is installed on the machine.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=node_modules/.cache/etcd
[ -x "$folder/usr/bin/etcd" ] && [ -x "$folder/usr/bin/etcdctl" ] && exit 0
mkdir -p "$folder/download"
cd "$folder/download"
# A fresh machine knows of no packages yet.
apt-get download etcd-server etcd-client || { apt-get update && apt-get download etcd-server etcd-client; }
for package in *.deb; do dpkg -x "$package" ..; done
../usr/bin/etcd --version
../usr/bin/etcdctl version
