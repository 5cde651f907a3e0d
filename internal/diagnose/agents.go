package diagnose

import "path"

// agent is a program that watches a host and serves nobody of the load.
type agent struct {
	name string
	// units that start it, as patterns of path.Match, by the names that
	// Debian's packages and the vendors' own give them.
	units []string
}

// agents are those that may be stopped where observability may be traded. What
// supervises (monit), guards (auditd, an intrusion detector), keeps logs
// (rsyslog, journald) or time is no such agent and stays.
var agents = []agent{
	{"Munin", []string{"munin-node.service", "munin-async.service"}},
	{"collectd", []string{"collectd.service"}},
	{"Telegraf", []string{"telegraf.service"}},
	{"Netdata", []string{"netdata.service"}},
	{"sysstat", []string{"sysstat.service", "sysstat-collect.service"}},
	{"Zabbix", []string{"zabbix-agent.service", "zabbix-agent2.service"}},
	{"a Prometheus exporter", []string{"prometheus-*-exporter.service", "prometheus-*-exporter@*.service", "*_exporter.service", "*_exporter@*.service"}},
	{"Datadog", []string{"datadog-agent.service", "datadog-agent-*.service"}},
	{"Mackerel", []string{"mackerel-agent.service"}},
	{"New Relic", []string{"newrelic-infra.service", "newrelic-daemon.service"}},
	{"NRPE", []string{"nagios-nrpe-server.service", "nrpe.service"}},
	{"Icinga", []string{"icinga2.service"}},
	{"Performance Co-Pilot", []string{"pmcd.service", "pmlogger.service", "pmie.service", "pmproxy.service"}},
	{"atop", []string{"atop.service", "atopacct.service"}},
	{"Glances", []string{"glances.service"}},
	{"the CloudWatch agent", []string{"amazon-cloudwatch-agent.service"}},
	{"the Ops Agent", []string{"google-cloud-ops-agent.service", "google-cloud-ops-agent-*.service"}},
	{"Metricbeat", []string{"metricbeat.service", "packetbeat.service", "heartbeat-elastic.service"}},
	{"an OpenTelemetry collector", []string{"otelcol.service", "otelcol-*.service"}},
	{"snmpd", []string{"snmpd.service"}},
}

// agentOf names the agent that a unit is; "" if it is none.
func agentOf(unit string) string {
	for _, a := range agents {
		for _, pattern := range a.units {
			if ok, err := path.Match(pattern, unit); err == nil && ok {
				return a.name
			}
		}
	}
	return ""
}
