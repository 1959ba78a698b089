#!/usr/bin/env bash
# Installs Debian's Chromium, in which the console is tested, where there is none. Its libraries are many, so that it is installed and not unpacked as etcd is:
# it needs root.
set -euo pipefail

command -v chromium > /dev/null && exit 0
export DEBIAN_FRONTEND=noninteractive
install=(apt-get install -y --no-install-recommends chromium fonts-dejavu-core)
# A fresh machine knows of no packages yet.
"${install[@]}" || { apt-get update && "${install[@]}"; }
