export interface AdmissionWebhookOptions {
  /** Default: `validating`. */
  type?: 'validating' | 'mutating';
  /** What it is asked about: `pods`, `deployments.apps`, `widgets.example.com`, `pods/status`. */
  resources: readonly string[];
  /** Default: `CREATE` and `UPDATE`. */
  operations?: readonly ('CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT')[];
}

export interface ConversionWebhookOptions {
  type: 'conversion';
  /** The name of the CustomResourceDefinition: `widgets.example.com`. */
  crd: string;
}

export interface TestWebhook {
  /** Where the server calls it. */
  readonly url: string;
  /** Takes the configuration away, and stops to serve. */
  stop(): Promise<void>;
}
