#!/usr/bin/env bash
# Puts Debian's prometheus and promtool where the tests look for them.
exec "$(dirname "$0")/debian-tools.sh" prometheus promtool prometheus
