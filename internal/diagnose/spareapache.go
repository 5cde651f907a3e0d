package diagnose

import (
	"bytes"
	"fmt"
	"strings"

	"kasoku/internal/confedit/apache"
	"kasoku/internal/stack"
)

// sparePHP: the PHP in a spare Apache is to be set like the one that is asked
// now, or it is slower there. php_ini are the files that differ, one a line; only
// what both hosts have can be compared.
func (m *model) sparePHP(f Finding, spare *stack.Service) (_ Finding, why string) {
	main := m.in.Stack.Service(spare.SpareFor)
	asked := m.in.Snapshot.Apache[main.Name]
	if len(asked.PHPIni) == 0 {
		return f, ""
	}
	var differ []string
	for _, file := range asked.PHPIni {
		is, here := m.in.Snapshot.Files[main.HostName()][file]
		there, has := m.in.Snapshot.Files[spare.HostName()][file]
		switch {
		case here && !has:
			return f, fmt.Sprintf("%s on %s is not there or was not read, and PHP of %s is set by it; make the packages and files of PHP the same", file, spare.HostName(), main.Name)
		case here && !bytes.Equal(is.Content, there.Content):
			differ = append(differ, file)
		}
	}
	if len(differ) > 0 {
		f = f.with("php_ini", strings.Join(differ, "\n"))
	}
	return f, ""
}

// spareClients: where the Apache that is asked now takes clients' addresses from
// a header (mod_remoteip), the spare must, too, or its logs and the application
// would take the web server for the client. remoteip is the header, client who
// alone may tell it.
func (m *model) spareClients(f Finding, web, spare *stack.Service) (_ Finding, why string) {
	main := m.in.Stack.Service(spare.SpareFor)
	header := ""
	for _, svc := range []*stack.Service{main, spare} {
		conf, err := ApacheConfig(m.in.Snapshot, svc)
		if err != nil {
			return f, fmt.Sprintf("the configuration of %s cannot be read: %v", svc.Name, err)
		}
		is := remoteHeader(conf)
		switch {
		case svc == main:
			header = is
		case is == header:
			return f, ""
		case is != "":
			return f, fmt.Sprintf("%s takes clients' addresses from %s, and %s from %q; make that the same", spare.Name, is, main.Name, header)
		}
	}
	client := nearest(m.in.Snapshot.Addresses[spare.HostName()], m.in.Snapshot.Addresses[web.HostName()])
	if client == "" {
		return f, fmt.Sprintf("no address is known by which %s calls %s, whose header %s is to be believed", web.Name, spare.Name, header)
	}
	return f.with("remoteip", header).with("client", client), ""
}

// remoteHeader is the header that an Apache takes clients' addresses from; "" if
// it takes the connection's.
func remoteHeader(conf *apache.Config) string {
	header := ""
	for _, d := range conf.Root.Find("RemoteIPHeader") {
		if d.State != apache.Inactive && len(d.Args) == 1 {
			header = d.Args[0]
		}
	}
	return header
}
