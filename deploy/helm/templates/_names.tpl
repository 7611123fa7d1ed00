{{- define "caudal.name" -}}
{{- if contains "caudal" .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}{{ else }}{{ printf "%s-caudal" .Release.Name | trunc 63 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "caudal.selector" -}}
app.kubernetes.io/name: caudal
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "caudal.labels" -}}
{{ include "caudal.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "caudal.shared" -}}
{{- if or .Values.postgres.url .Values.postgres.secret }}true{{ end }}
{{- end }}

{{- /* Who has to show a certificate cannot ask how it is; whether somebody listens is seen without one. */ -}}
{{- define "caudal.probe" -}}
{{- $tls := (index . 0).Values.tls -}}
{{- if and $tls.secret $tls.clients -}}
tcpSocket: { port: metrics }
{{- else -}}
httpGet: { path: {{ index . 1 }}, port: metrics, scheme: {{ if $tls.secret }}HTTPS{{ else }}HTTP{{ end }} }
{{- end }}
{{- end }}

{{- define "caudal.pod" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
automountServiceAccountToken: false
# Variables of services would begin with CAUDAL_ as settings do.
enableServiceLinks: false
# It finishes what it has accepted, for up to 15 seconds.
terminationGracePeriodSeconds: 30
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
containers:
  - name: caudal
    image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities:
        drop: [ALL]
    env:
      - name: CAUDAL_HOSTS
        value: {{ concat (list (include "caudal.name" .) (printf "%s.%s" (include "caudal.name" .) .Release.Namespace) (printf "%s.%s.svc" (include "caudal.name" .) .Release.Namespace) (printf "%s.%s.svc.cluster.local" (include "caudal.name" .) .Release.Namespace)) .Values.hosts | join "," | quote }}
      - name: CAUDAL_NODE
        valueFrom:
          fieldRef:
            fieldPath: metadata.name
      {{- if .Values.postgres.secret }}
      - name: CAUDAL_STORE
        valueFrom:
          secretKeyRef:
            name: {{ .Values.postgres.secret }}
            key: {{ .Values.postgres.secretKey }}
      {{- else if .Values.postgres.url }}
      - name: CAUDAL_STORE
        valueFrom:
          secretKeyRef:
            name: {{ include "caudal.name" . }}
            key: url
      {{- end }}
      {{- if .Values.tls.secret }}
      - { name: CAUDAL_TLS_CERTIFICATE, value: /tls/tls.crt }
      - { name: CAUDAL_TLS_KEY, value: /tls/tls.key }
      {{- if .Values.tls.clients }}
      - { name: CAUDAL_TLS_CLIENT_CA, value: /tls/ca.crt }
      {{- end }}
      {{- end }}
      {{- range $key, $value := .Values.settings }}
      - name: CAUDAL_{{ $key }}
        value: {{ $value | quote }}
      {{- end }}
      {{- with .Values.env }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    ports:
      - { name: rest, containerPort: 8080 }
      - { name: grpc, containerPort: 26500 }
      - { name: metrics, containerPort: 9091 }
    # A store that is brought up to date may take long, and is not to be interrupted.
    startupProbe:
      {{- include "caudal.probe" (list . "/health/live") | nindent 6 }}
      periodSeconds: 2
      failureThreshold: 1800
    livenessProbe:
      {{- include "caudal.probe" (list . "/health/live") | nindent 6 }}
    readinessProbe:
      {{- include "caudal.probe" (list . "/health/ready") | nindent 6 }}
      periodSeconds: 5
    resources:
      {{- toYaml .Values.resources | nindent 6 }}
    volumeMounts:
      {{- if not (include "caudal.shared" .) }}
      - { name: data, mountPath: /data }
      {{- end }}
      {{- if .Values.tls.secret }}
      - { name: tls, mountPath: /tls, readOnly: true }
      {{- end }}
      {{- with .Values.volumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
volumes:
  {{- with .Values.tls.secret }}
  - { name: tls, secret: { secretName: {{ . }}, defaultMode: 0440 } }
  {{- end }}
  {{- with .Values.volumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
