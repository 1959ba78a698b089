#!/usr/bin/env bash
# Puts Debian's etcd and etcdctl where the tests look for them.
exec "$(dirname "$0")/debian-tools.sh" etcd etcdctl etcd-server etcd-client
