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

{{- define "caudal.pod" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
automountServiceAccountToken: false
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
      {{- range $key, $value := .Values.settings }}
      - name: CAUDAL_{{ $key }}
        value: {{ $value | quote }}
      {{- end }}
    ports:
      - { name: rest, containerPort: 8080 }
      - { name: grpc, containerPort: 26500 }
      - { name: metrics, containerPort: 9091 }
    livenessProbe:
      httpGet: { path: /health/live, port: metrics }
    readinessProbe:
      httpGet: { path: /health/ready, port: metrics }
      periodSeconds: 5
    resources:
      {{- toYaml .Values.resources | nindent 6 }}
{{- end }}
