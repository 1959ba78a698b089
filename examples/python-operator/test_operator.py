"""Run with a server: npx binnacle run --crds ../config -- python3 -m pytest"""

import time
import uuid

import pytest
from kubernetes import client, config

from operator_loop import GROUP, PLURAL, VERSION, Operator

DEADLINE_SECONDS = 20


@pytest.fixture(scope="session")
def api_client():
    # KUBECONFIG names the server that `binnacle run` has started.
    return config.new_client_from_config()


@pytest.fixture
def namespace(api_client):
    """A namespace of each test's own; what is in it goes with it."""
    core = client.CoreV1Api(api_client)
    name = f"test-{uuid.uuid4().hex[:8]}"
    core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=name)))
    yield name
    core.delete_namespace(name)


@pytest.fixture(autouse=True)
def operator(api_client):
    running = Operator(api_client)
    running.start()
    yield
    running.stop()


def eventually(condition):
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it has not come about in time"
        time.sleep(0.05)


def create_website(api_client, namespace, html):
    body = {"apiVersion": f"{GROUP}/{VERSION}", "kind": "Website", "metadata": {"name": "home"}, "spec": {"html": html}}
    client.CustomObjectsApi(api_client).create_namespaced_custom_object(GROUP, VERSION, namespace, PLURAL, body)


def published(api_client, namespace):
    config_maps = client.CoreV1Api(api_client).list_namespaced_config_map(namespace, field_selector="metadata.name=home-html").items
    return config_maps[0].data["index.html"] if config_maps else None


def test_publishes_a_website(api_client, namespace):
    create_website(api_client, namespace, "<h1>Hello</h1>")
    eventually(lambda: published(api_client, namespace) == "<h1>Hello</h1>")


def test_what_it_published_goes_with_the_website(api_client, namespace):
    create_website(api_client, namespace, "<h1>Hello</h1>")
    eventually(lambda: published(api_client, namespace) is not None)
    client.CustomObjectsApi(api_client).delete_namespaced_custom_object(GROUP, VERSION, namespace, PLURAL, "home")
    eventually(lambda: published(api_client, namespace) is None)


def test_a_website_without_text_is_refused(api_client, namespace):
    with pytest.raises(client.ApiException) as refused:
        create_website(api_client, namespace, "")
    assert refused.value.status == 422
