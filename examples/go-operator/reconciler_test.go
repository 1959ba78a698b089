package operator

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// startManager starts an API server and the reconciler on it, for one test.
func startManager(t *testing.T) client.Client {
	t.Helper()
	environment := &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join("..", "config")},
		ErrorIfCRDPathMissing: true,
	}
	config, err := environment.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = environment.Stop() })
	manager, err := ctrl.NewManager(config, ctrl.Options{Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := (&Reconciler{Client: manager.GetClient()}).SetupWithManager(manager); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go func() { _ = manager.Start(ctx) }()
	return manager.GetClient()
}

func TestPublishesAWebsite(t *testing.T) {
	api := startManager(t)
	ctx := context.Background()
	website := NewWebsite()
	website.SetNamespace("default")
	website.SetName("home")
	_ = unstructured.SetNestedField(website.Object, "<h1>Hello</h1>", "spec", "html")
	if err := api.Create(ctx, website); err != nil {
		t.Fatal(err)
	}
	page := &corev1.ConfigMap{}
	published := func(ctx context.Context) (bool, error) {
		err := api.Get(ctx, types.NamespacedName{Namespace: "default", Name: "home-html"}, page)
		return err == nil && page.Data["index.html"] == "<h1>Hello</h1>", client.IgnoreNotFound(err)
	}
	if err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 20*time.Second, true, published); err != nil {
		t.Fatalf("the website was not published: %v", err)
	}
	if owners := page.GetOwnerReferences(); len(owners) != 1 || owners[0].Name != "home" {
		t.Fatalf("the page has the owners %v", owners)
	}
}
