// Package operator keeps the text of each Website in a ConfigMap of its own.
package operator

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// WebsiteKind is the kind that the reconciler is for.
var WebsiteKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Website"}

// Reconciler publishes Websites.
type Reconciler struct {
	client.Client
}

// NewWebsite returns a Website with nothing in it.
func NewWebsite() *unstructured.Unstructured {
	website := &unstructured.Unstructured{}
	website.SetGroupVersionKind(WebsiteKind)
	return website
}

// SetupWithManager has the reconciler called for Websites and for the ConfigMaps that they own.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).For(NewWebsite()).Owns(&corev1.ConfigMap{}).Complete(r)
}

// Reconcile writes the ConfigMap, then the status.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	website := NewWebsite()
	if err := r.Get(ctx, request.NamespacedName, website); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	html, _, err := unstructured.NestedString(website.Object, "spec", "html")
	if err != nil {
		return ctrl.Result{}, err
	}
	page := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: request.Name + "-html", Namespace: request.Namespace}}
	_, err = controllerutil.CreateOrUpdate(ctx, r.Client, page, func() error {
		page.Data = map[string]string{"index.html": html}
		return controllerutil.SetControllerReference(website, page, r.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	before := website.DeepCopy()
	if err := unstructured.SetNestedField(website.Object, "Ready", "status", "phase"); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.Status().Patch(ctx, website, client.MergeFrom(before))
}
