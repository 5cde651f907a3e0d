package evidence

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"

	"kasoku/internal/host"
)

// nodeChoice matches what lies in a Node program's folder for libraries that
// choose a file, or a part of one, by NODE_ENV or may set it: dotenv's .env and
// dotenv-flow's .env.production,
// node-config's and Feathers' config/production.json, Sequelize's
// config/config.json and .sequelizerc, Knex's knexfile.js, TypeORM's ormconfig,
// config/environments.
var nodeChoice = regexp.MustCompile(`(?i)^(?:\.env|\.env\..*(?:prod|dev).*|\.sequelizerc|(?:knexfile|ormconfig|config|database)\.\w+|config/(?:.*(?:production|development).*|(?:config|database|env|environments?)(?:\.\w+)?))$`)

// nodeFolders are where a Node program's settings may lie: where it runs, where
// its script is, and above that if it was built or kept in a folder below.
func nodeFolders(p AppProcess) []string {
	out := []string{p.Dir}
	for _, word := range p.Argv[min(1, len(p.Argv)):] {
		if !slices.Contains([]string{".js", ".mjs", ".cjs", ".ts"}, path.Ext(word)) {
			continue
		}
		if !path.IsAbs(word) {
			word = path.Join(p.Dir, word)
		}
		dir := path.Dir(word)
		out = append(out, dir)
		if slices.Contains([]string{"dist", "build", "src", "lib", "bin"}, path.Base(dir)) {
			out = append(out, path.Dir(dir))
		}
	}
	return out
}

// nodeChoices lists files in the folders by which NODE_ENV chooses more than how
// fast a program is, e.g. its database. Only names are looked at.
func nodeChoices(ctx context.Context, h host.Host, folders ...string) ([]string, error) {
	var out []string
	for _, dir := range folders {
		if dir == "" {
			continue
		}
		for _, below := range []string{"", "config"} {
			list, err := h.List(ctx, path.Join(dir, below))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			for _, f := range list {
				if nodeChoice.MatchString(path.Join(below, path.Base(f.Path))) {
					out = append(out, f.Path)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
