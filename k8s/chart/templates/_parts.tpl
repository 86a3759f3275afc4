{{/* Times in seconds that the programs need beyond DRAIN_SECONDS. A test compares them with the code. */}}
{{- define "tilestead.stopMargin" -}}
{{- index (dict "gateway" 15 "zone-server" 15 "persistence-svc" 15) . -}}
{{- end }}

{{/* The values of one service, by its name. */}}
{{- define "tilestead.values" -}}
{{- index .Values (index (dict "gateway" "gateway" "zone-server" "zoneServer" "persistence-svc" "persistenceSvc") .name) | toYaml -}}
{{- end }}

{{- define "tilestead.labels" -}}
app.kubernetes.io/name: {{ . }}
app.kubernetes.io/part-of: tilestead
{{- end }}

{{- define "tilestead.image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ $tag }}
{{- end -}}
{{- end }}

{{/* The settings of one service: those of all, and over them its own and those that other values decide. */}}
{{- define "tilestead.settings" -}}
{{- $own := include "tilestead.values" . | fromYaml -}}
{{- $settings := merge (dict) ($own.settings | default dict) .Values.settings -}}
{{- $_ := set $settings "METRICS_PORT" "9464" -}}
{{- if hasKey $own "drainSeconds" -}}
{{- $_ := set $settings "DRAIN_SECONDS" $own.drainSeconds -}}
{{- end -}}
{{- if ne .name "persistence-svc" -}}
{{- $_ := set $settings "PERSISTENCE_ADDRESSES" "persistence-svc:5600" -}}
{{- end -}}
{{- range $name, $value := $settings }}
{{ $name }}: {{ $value | toString | quote }}
{{- end }}
{{- end }}

{{- define "tilestead.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "tilestead.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: ["ALL"]
{{- end }}

{{/* ConfigMap, Deployment and PodDisruptionBudget of a service. `ports` and `env` come from its own template. */}}
{{- define "tilestead.service" -}}
{{- $own := include "tilestead.values" . | fromYaml -}}
{{- $drain := $own.drainSeconds | default 0 | int -}}
{{- $grace := add $own.preStopSeconds $drain (include "tilestead.stopMargin" .name | int) -}}
{{- if not .Values.kustomize }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .name }}
  labels:
    {{- include "tilestead.labels" .name | nindent 4 }}
    {{- if eq .name "persistence-svc" }}
    # The Job that brings the tables up to date reads it too.
    tilestead/part: migrate
    {{- end }}
data:
  {{- include "tilestead.settings" . | trim | nindent 2 }}
---
{{- end }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .name }}
  labels:
    {{- include "tilestead.labels" .name | nindent 4 }}
spec:
  {{- if not .scaled }}
  replicas: {{ $own.replicas }}
  {{- end }}
  # A new pod must stay ready for so long before the next old one stops: so that few stop at a time.
  minReadySeconds: {{ $own.minReadySeconds }}
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxUnavailable: 0
      maxSurge: {{ $own.maxSurge }}
  selector:
    matchLabels:
      app.kubernetes.io/name: {{ .name }}
  template:
    metadata:
      labels:
        {{- include "tilestead.labels" .name | nindent 8 }}
      annotations:
        prometheus.io/scrape: "true"
        prometheus.io/port: "9464"
        {{- if not .Values.kustomize }}
        tilestead/settings: {{ include "tilestead.settings" . | sha256sum | trunc 16 | quote }}
        {{- end }}
    spec:
      # preStop, the drain, and what the program may need after it.
      terminationGracePeriodSeconds: {{ $grace }}
      automountServiceAccountToken: false
      {{- if .Values.priorityClass.name }}
      priorityClassName: {{ .Values.priorityClass.name }}
      {{- end }}
      {{- with .Values.image.pullSecrets }}
      imagePullSecrets:
        {{- range . }}
        - name: {{ . }}
        {{- end }}
      {{- end }}
      securityContext:
        {{- include "tilestead.podSecurity" . | nindent 8 }}
      topologySpreadConstraints:
        {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
        - maxSkew: 1
          topologyKey: {{ . }}
          whenUnsatisfiable: ScheduleAnyway
          # Pods of the release before do not count.
          matchLabelKeys: [pod-template-hash]
          labelSelector:
            matchLabels:
              app.kubernetes.io/name: {{ $.name }}
        {{- end }}
      {{- with $own.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $own.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: {{ .name }}
          image: {{ include "tilestead.image" . }}
          imagePullPolicy: {{ .Values.image.pullPolicy }}
          command: [{{ .name | quote }}]
          envFrom:
            - configMapRef:
                name: {{ .name }}
          env:
            {{- .env | trim | nindent 12 }}
            {{- range .secrets }}
            - name: {{ . }}_FILE
              value: /etc/tilestead/{{ . }}
            {{- end }}
            - name: INTERNAL_TLS_CA
              value: /etc/tilestead-tls/ca.crt
            - name: INTERNAL_TLS_CERT
              value: /etc/tilestead-tls/tls.crt
            - name: INTERNAL_TLS_KEY
              value: /etc/tilestead-tls/tls.key
          ports:
            - name: {{ .port.name }}
              containerPort: {{ .port.number }}
            - name: metrics
              containerPort: 9464
          {{- if $own.preStopSeconds }}
          lifecycle:
            preStop:
              sleep:
                seconds: {{ $own.preStopSeconds }}
          {{- end }}
          startupProbe:
            httpGet:
              path: /livez
              port: metrics
            periodSeconds: 1
            failureThreshold: 60
          livenessProbe:
            httpGet:
              path: /livez
              port: metrics
            periodSeconds: 10
            timeoutSeconds: 3
            failureThreshold: 3
          readinessProbe:
            httpGet:
              path: /readyz
              port: metrics
            periodSeconds: 2
            timeoutSeconds: 2
            failureThreshold: 2
          resources:
            {{- toYaml $own.resources | nindent 12 }}
          securityContext:
            {{- include "tilestead.containerSecurity" . | nindent 12 }}
          volumeMounts:
            - name: internal-tls
              mountPath: /etc/tilestead-tls
              readOnly: true
            {{- if .secrets }}
            - name: secrets
              mountPath: /etc/tilestead
              readOnly: true
            {{- end }}
      volumes:
        # Missing files end the process with a sentence, unless INTERNAL_TLS is off.
        - name: internal-tls
          secret:
            secretName: {{ .name }}-tls
            optional: true
        {{- if .secrets }}
        - name: secrets
          secret:
            secretName: {{ .Values.secretName }}
            items:
              {{- range .secrets }}
              - key: {{ . }}
                path: {{ . }}
              {{- end }}
        {{- end }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .name }}
  labels:
    {{- include "tilestead.labels" .name | nindent 4 }}
spec:
  maxUnavailable: {{ $own.maxUnavailable }}
  # A pod that is not ready anyhow never keeps a node from being emptied.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      app.kubernetes.io/name: {{ .name }}
{{- end }}

{{/* The peers of a policy: `to` or `from` some, or neither word and so everybody. */}}
{{- define "tilestead.peers" -}}
{{- with .peers }}
{{ $.way }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
