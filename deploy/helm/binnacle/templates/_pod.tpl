{{- define "binnacle.labels" -}}
app.kubernetes.io/name: binnacle
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "binnacle.pod" -}}
metadata:
  labels:
    {{- include "binnacle.labels" . | nindent 4 }}
  annotations:
    prometheus.io/scrape: 'true'
    prometheus.io/scheme: https
    prometheus.io/port: {{ .Values.service.port | quote }}
spec:
  serviceAccountName: {{ .Release.Name }}
  # The server knows nothing of the cluster that it runs in.
  automountServiceAccountToken: false
  enableServiceLinks: false
  # Draining takes up to --shutdown-delay-duration and --request-timeout.
  terminationGracePeriodSeconds: 90
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if eq .Values.store "etcd" }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: DoNotSchedule
      labelSelector:
        matchLabels:
          {{- include "binnacle.labels" . | nindent 10 }}
  {{- end }}
  containers:
    - name: apiserver
      image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args:
        - serve
        - --data-dir=/var/lib/binnacle
        - --secure-port={{ .Values.service.port }}
        - --advertise-address=$(POD_IP)
        - --authorization-mode=Node,RBAC
        - --tls-cert-file=/etc/binnacle/pki/tls.crt
        - --tls-private-key-file=/etc/binnacle/pki/tls.key
        - --client-ca-file=/etc/binnacle/pki/ca.crt
        - --service-account-issuer={{ .Values.serviceAccountIssuer }}
        - --service-account-key-file=/etc/binnacle/pki/service-account.key
        - --service-account-signing-key-file=/etc/binnacle/pki/service-account.key
        - --service-cluster-ip-range={{ .Values.service.clusterIPRange }}
        - --shutdown-delay-duration=10s
        {{- if eq .Values.store "etcd" }}
        - --shutdown-send-retry-after=true
        - --goaway-chance=0.001
        - --etcd-servers={{ join "," .Values.etcd.endpoints }}
        - --etcd-cafile=/etc/binnacle/pki/etcd-ca.crt
        - --etcd-certfile=/etc/binnacle/pki/etcd-client.crt
        - --etcd-keyfile=/etc/binnacle/pki/etcd-client.key
        {{- end }}
        {{- range .Values.extraFlags }}
        - {{ . | quote }}
        {{- end }}
      env:
        - name: POD_IP
          valueFrom:
            fieldRef:
              fieldPath: status.podIP
      ports:
        - name: https
          containerPort: {{ .Values.service.port }}
      startupProbe:
        httpGet: {path: /livez, port: https, scheme: HTTPS}
        periodSeconds: 2
        timeoutSeconds: 5
        # A large store takes its time to be read.
        failureThreshold: 150
      livenessProbe:
        httpGet: {path: /livez, port: https, scheme: HTTPS}
        periodSeconds: 10
        timeoutSeconds: 15
        failureThreshold: 8
      readinessProbe:
        httpGet: {path: /readyz, port: https, scheme: HTTPS}
        periodSeconds: 1
        timeoutSeconds: 15
        failureThreshold: 3
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      volumeMounts:
        - name: data
          mountPath: /var/lib/binnacle
        - name: pki
          mountPath: /etc/binnacle/pki
          readOnly: true
  volumes:
    - name: pki
      secret:
        secretName: {{ .Values.pkiSecret }}
        defaultMode: 0440
    {{- if eq .Values.store "etcd" }}
    - name: data
      emptyDir: {}
    {{- end }}
{{- end }}
