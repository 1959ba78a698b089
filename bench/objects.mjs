// What the measurements write.
export const configMap = (name, sizeBytes) =>
  JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, labels: { app: 'bench' } }, data: { value: 'x'.repeat(sizeBytes) } });

/** What a small deployment's pod looks like when its controller makes it; with a node, as if it were bound already. */
export const pod = (name, nodeName = undefined) =>
  JSON.stringify({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, labels: { app: 'bench', 'pod-template-hash': '5d8f' }, annotations: { 'example.com/checksum': '0123456789abcdef' } },
    spec: {
      nodeName,
      containers: [
        {
          name: 'app',
          image: 'registry.example.com/app:1.2.3',
          ports: [{ name: 'http', containerPort: 8080 }],
          env: [
            { name: 'LOG_LEVEL', value: 'info' },
            { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          ],
          resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
          readinessProbe: { httpGet: { path: '/ready', port: 'http' } },
          volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
        },
      ],
      volumes: [{ name: 'scratch', emptyDir: {} }],
    },
  });

export const deployment = (name, release) =>
  JSON.stringify({
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: { name, labels: { app: name } },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          containers: [
            {
              name: 'app',
              image: `registry.example.com/app:${release}`,
              ports: [{ name: 'http', containerPort: 8080 }],
              env: [{ name: 'LOG_LEVEL', value: 'info' }],
              resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
            },
          ],
        },
      },
    },
  });
