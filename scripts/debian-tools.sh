#!/usr/bin/env bash
# Unpacks Debian packages below node_modules/.cache/<folder>, where the tests look for them (test/support/find-etcd.ts). Nothing is installed on the machine.
#   scripts/debian-tools.sh FOLDER PROGRAM PACKAGE...   PROGRAM is the file in usr/bin that tells whether they are there already.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=node_modules/.cache/$1 program=$2
shift 2
[ -x "$folder/usr/bin/$program" ] && exit 0
mkdir -p "$folder/download"
cd "$folder/download"
# A fresh machine knows of no packages yet.
apt-get download "$@" || { apt-get update && apt-get download "$@"; }
for package in *.deb; do dpkg -x "$package" ..; done
"../usr/bin/$program" --version || "../usr/bin/$program" version
