package record

// ignoredKeywords of schemas decide which values fit, but nothing is made by
// them: a value may break them. $dynamicRef refers by the place of its use.
var ignoredKeywords = []string{"not", "if", "patternProperties", "propertyNames", "dependentSchemas", "dependentRequired", "dependencies", "$dynamicRef", "$recursiveRef"}

// tellIgnored tells keywords of a schema that are not followed.
func (s *schema) tellIgnored(at apiNode) {
	for _, name := range ignoredKeywords {
		if v := at.find(name); v.ok() {
			s.problem(v, "%s of a schema is not followed: the value made may break it", name)
		}
	}
}
