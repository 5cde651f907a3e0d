package php

import (
	"fmt"
	"maps"
	"path"
	"slices"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// setApache plans settings of the PHP that is a module of Apache: in the last
// of its ini files that names them, else in its php.ini. Apache is restarted,
// because OPcache's memory is set up when it starts. What Apache's own
// configuration sets (php_value and its like) wins over php.ini, often for a
// part of the site; that is left to whoever wrote it.
func setApache(in planning.Input, svc *stack.Service, values [][2]string, why string) ([]change.Change, error) {
	build := in.Snapshot.Apache[svc.Name]
	byFile := map[string][][2]string{}
	for _, kv := range values {
		for _, o := range build.PHPOverrides {
			if o.Key == kv[0] {
				return nil, fmt.Errorf("%s of %s is set at %s, which wins over php.ini; change it there", kv[0], svc.Name, o.Where)
			}
		}
		file, err := apacheIni(in, svc, kv[0])
		if err != nil {
			return nil, err
		}
		byFile[file] = append(byFile[file], kv)
	}
	changed := map[string][]byte{}
	for file, kvs := range byFile {
		conf, err := diagnose.PHPIni(in.Snapshot, svc, file)
		if err != nil {
			return nil, err
		}
		for _, kv := range kvs {
			if err := conf.Set("", kv[0], kv[1]); err != nil {
				return nil, err
			}
		}
		maps.Copy(changed, conf.Changed())
	}
	return planning.FileChanges(in.Snapshot, svc, changed, change.Restart, why)
}

// apacheIni is the file whose value of key Apache's PHP uses: the last one read
// that names it (PHP manual, "The configuration file"), else php.ini.
func apacheIni(in planning.Input, svc *stack.Service, key string) (string, error) {
	build := in.Snapshot.Apache[svc.Name]
	for _, file := range slices.Backward(build.PHPIni) {
		conf, err := diagnose.PHPIni(in.Snapshot, svc, file)
		if err != nil {
			return "", err
		}
		if _, ok := conf.Get("", key); !ok {
			continue
		}
		if f := in.Snapshot.Files[planning.HostOf(svc)][path.Clean(file)]; !f.Writable && file != build.PHPMain {
			return "", fmt.Errorf("%s of %s is set in %s, which other programs read too; change it there", key, svc.Name, file)
		}
		return file, nil
	}
	if build.PHPMain == "" {
		return "", fmt.Errorf("%s has no php.ini for its PHP; write one where PHPIniDir leads, or name it in kasoku.yaml (php_ini)", svc.Name)
	}
	return build.PHPMain, nil
}
