package diagnose

import (
	"kasoku/internal/confedit/apache"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// ShownFolders visits the folders whose files a web server shows: document
// roots and aliases, as they are written.
func ShownFolders(snap *evidence.Snapshot, svc *stack.Service, visit func(folder string)) error {
	switch svc.Kind {
	case stack.Apache:
		conf, err := ApacheConfig(snap, svc)
		if err != nil {
			return err
		}
		conf.Root.Walk(func(d *apache.Directive) bool {
			switch {
			case d.State == apache.Inactive:
				return false
			case d.Is("DocumentRoot") && len(d.Args) == 1:
				visit(d.Args[0])
			case (d.Is("Alias") || d.Is("ScriptAlias") || d.Is("AliasMatch")) && len(d.Args) == 2:
				visit(d.Args[1])
			}
			return true
		})
	case stack.Nginx:
		conf, err := NginxConfig(snap, svc)
		if err != nil {
			return err
		}
		conf.Root.Walk(func(d *nginx.Directive) bool {
			if (d.Name == "root" || d.Name == "alias") && len(d.Args) == 1 {
				visit(d.Args[0])
			}
			return true
		})
	default: // serves no folders
	}
	return nil
}
