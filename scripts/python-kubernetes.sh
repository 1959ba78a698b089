#!/usr/bin/env bash
# Puts Debian's pytest and Kubernetes client for Python where the test of examples/python-operator looks for them.
set -euo pipefail
export PYTHONPATH="$(cd "$(dirname "$0")/.." && pwd)/node_modules/.cache/python/usr/lib/python3/dist-packages"
exec "$(dirname "$0")/debian-tools.sh" python pytest-3 python3-kubernetes python3-pytest python3-pluggy python3-iniconfig python3-packaging python3-attr \
  python3-yaml python3-dateutil python3-six python3-certifi python3-urllib3 python3-requests python3-requests-oauthlib python3-oauthlib python3-websocket \
  python3-google-auth python3-rsa python3-pyasn1 python3-pyasn1-modules python3-cachetools python3-chardet python3-charset-normalizer python3-idna python3-pkg-resources python3-py
