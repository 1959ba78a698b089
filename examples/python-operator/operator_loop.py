"""Keeps the text of each Website in a ConfigMap of its own."""

import threading

from kubernetes import client, watch

GROUP, VERSION, PLURAL = "example.com", "v1", "websites"


def reconcile(api_client, website):
    name, namespace, uid = (website["metadata"][key] for key in ("name", "namespace", "uid"))
    core = client.CoreV1Api(api_client)
    owner = client.V1OwnerReference(api_version=f"{GROUP}/{VERSION}", kind="Website", name=name, uid=uid)
    config_map = client.V1ConfigMap(
        metadata=client.V1ObjectMeta(name=f"{name}-html", owner_references=[owner]),
        data={"index.html": website["spec"]["html"]},
    )
    try:
        core.create_namespaced_config_map(namespace, config_map)
    except client.ApiException as error:
        if error.status != 409:
            raise
        core.replace_namespaced_config_map(f"{name}-html", namespace, config_map)
    if website.get("status", {}).get("phase") != "Ready":
        status = {"status": {"phase": "Ready"}}
        client.CustomObjectsApi(api_client).patch_namespaced_custom_object_status(GROUP, VERSION, namespace, PLURAL, name, status)


class Operator(threading.Thread):
    """Watches all Websites until it is stopped; a watch that ends begins anew with a list."""

    def __init__(self, api_client):
        super().__init__(daemon=True)
        self._api_client = api_client
        self._watch = watch.Watch()
        self._stopped = threading.Event()

    def run(self):
        websites = client.CustomObjectsApi(self._api_client)
        while not self._stopped.is_set():
            try:
                for event in self._watch.stream(websites.list_cluster_custom_object, GROUP, VERSION, PLURAL, timeout_seconds=5):
                    if event["type"] in ("ADDED", "MODIFIED"):
                        reconcile(self._api_client, event["object"])
            except client.ApiException:
                self._stopped.wait(0.2)

    def stop(self):
        self._stopped.set()
        self._watch.stop()
