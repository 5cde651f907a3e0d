package pythonapp

import (
	"regexp"

	"kasoku/internal/appserver"
)

var gunicornSocket = &appserver.Socket{
	Option: "--bind", Value: "unix:%s",
	Names: regexp.MustCompile(`(?m)^[ \t]*bind[ \t]*=.*$`),
	Literals: []appserver.Literal{
		{Text: regexp.MustCompile(`^bind[ \t]*=[ \t]*("[^"\\]+"|'[^'\\]+')[ \t]*(?:#.*)?$`), Before: "[", More: ", 'unix:%s']"},
		{Text: regexp.MustCompile(`^bind[ \t]*=[ \t]*\[([^\]#]*["'])[ \t]*\][ \t]*(?:#.*)?$`), Before: "", More: ", 'unix:%s'"},
	},
	Unless: regexp.MustCompile(`umask|forwarded[-_]allow[-_]ips|proxy[-_](?:protocol|allow[-_]ips)|certfile|(?:^|[ \t])-m[ \t]*0?[0-7]`),
	// Workers of others, such as Uvicorn's, do not believe X-Forwarded-Proto of
	// who has no address (github.com/encode/uvicorn/issues/931).
	Class:   regexp.MustCompile(`(?:^|[ \t\n])(?:-k|--worker-class|worker_class)[ \t=]*["']?([\w.]+)`),
	Classes: []string{"sync", "gthread", "gevent", "eventlet"},
	NoPeer:  true,
	Source:  "Gunicorn documentation, \"Settings\": bind (several addresses, unix:PATH), umask (0), forwarded_allow_ips; gunicorn 20.1, config.py, validate_list_string; sock.py, UnixSocket; http/wsgi.py, create",
}
