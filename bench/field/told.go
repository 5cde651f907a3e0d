package main

import (
	"fmt"

	"github.com/goccy/go-yaml"
)

// merge puts what a stranger has to add over the kasoku.yaml that init wrote:
// services by their names, keys within keys, all else whole.
func merge(found, told []byte) ([]byte, error) {
	var base, over map[string]any
	if err := yaml.Unmarshal(found, &base); err != nil {
		return nil, fmt.Errorf("read what init wrote: %w", err)
	}
	if err := yaml.Unmarshal(told, &over); err != nil {
		return nil, fmt.Errorf("read told.yaml: %w", err)
	}
	services, _ := over["services"].(map[string]any)
	delete(over, "services")
	put(base, over)
	list, _ := base["services"].([]any)
	for name, keys := range services {
		to := named(list, name)
		if to == nil {
			to = map[string]any{"name": name}
			list = append(list, to)
		}
		with, ok := keys.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("told.yaml says nothing of the service %s", name)
		}
		put(to, with)
	}
	base["services"] = list
	return yaml.Marshal(base)
}

// put sets the keys of over in base; maps in both are merged.
func put(base, over map[string]any) {
	for key, value := range over {
		inner, ok := value.(map[string]any)
		had, both := base[key].(map[string]any)
		if ok && both {
			put(had, inner)
			continue
		}
		base[key] = value
	}
}

func named(list []any, name string) map[string]any {
	for _, x := range list {
		if s, ok := x.(map[string]any); ok && s["name"] == name {
			return s
		}
	}
	return nil
}
