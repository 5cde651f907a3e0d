package stack

import (
	"context"
	"strconv"
	"strings"

	"kasoku/internal/host"
)

// markLogs remembers how long the service's logs are now, so that logTail shows
// only what comes after.
func (c *Controller) markLogs(ctx context.Context) {
	c.logs = map[string]int64{}
	if c.svc.ControlMethod() == MethodSystemd {
		c.cursor = c.journalCursor(ctx)
	}
	for _, file := range readSettings(ctx, c.h, c.svc).logs {
		if info, err := c.h.Stat(ctx, file); err == nil {
			c.logs[file] = info.Size
		}
	}
}

// logTail returns the last lines that the service wrote since markLogs, to its
// own error logs and to the output of the launch, formatted as the tail of an
// error; "" if there are none.
func (c *Controller) logTail(ctx context.Context) string {
	ctx = context.WithoutCancel(ctx) // the cause may be that ctx ended
	var text strings.Builder
	if c.svc.ControlMethod() == MethodSystemd {
		text.Write(c.journalTail(ctx))
	}
	files := readSettings(ctx, c.h, c.svc).logs
	if c.output != "" {
		files = append(files, c.output)
	}
	for _, file := range files {
		const script = `tail -c +"$1" "$2" | tail -c 4096`
		res, err := c.h.Run(ctx, host.Command{Argv: []string{"sh", "-c", script, "sh", strconv.FormatInt(c.logs[file]+1, 10), file}})
		if err == nil {
			text.Write(res.Stdout)
		}
	}
	if tail := said(text.String()); tail != "" {
		return "\n  its last words" + tail
	}
	return ""
}
