{{- define "vintem.selector" -}}
app.kubernetes.io/name: vintem
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}
{{- define "vintem.labels" -}}
{{ include "vintem.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}
