// Renders a chart as Helm does, by the engine and the functions that Helm is made of: text/template
// and sprig. Debian has both, and not Helm itself.
//   go run render.go CHART VALUES.yaml
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

type values = map[string]interface{}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(path string) values {
	text, err := os.ReadFile(path)
	check(err)
	found := values{}
	check(yaml.Unmarshal(text, &found))
	return found
}

func merge(into, from values) {
	for key, value := range from {
		inner, isMap := value.(values)
		outer, wasMap := into[key].(values)
		if isMap && wasMap {
			merge(outer, inner)
		} else {
			into[key] = value
		}
	}
}

// Charts name what is in Chart.yaml with a capital letter.
func capitalized(chart values) values {
	found := values{}
	for key, value := range chart {
		found[strings.ToUpper(key[:1])+key[1:]] = value
	}
	return found
}

func main() {
	chart := os.Args[1]
	all := read(filepath.Join(chart, "values.yaml"))
	merge(all, read(os.Args[2]))

	engine := template.New("chart").Option("missingkey=zero").Funcs(sprig.TxtFuncMap())
	engine.Funcs(template.FuncMap{
		"include": func(name string, data interface{}) (string, error) {
			var text strings.Builder
			err := engine.ExecuteTemplate(&text, name, data)
			return text.String(), err
		},
		"toYaml": func(value interface{}) (string, error) {
			text, err := yaml.Marshal(value)
			return strings.TrimSuffix(string(text), "\n"), err
		},
		"required": func(why string, value interface{}) (interface{}, error) {
			if value == nil || value == "" {
				return nil, fmt.Errorf("%s", why)
			}
			return value, nil
		},
	})
	files, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	check(err)
	_, err = engine.ParseFiles(files...)
	check(err)
	for _, file := range files {
		if filepath.Ext(file) != ".yaml" {
			continue
		}
		fmt.Println("---")
		check(engine.ExecuteTemplate(os.Stdout, filepath.Base(file), values{
			"Values":  all,
			"Chart":   capitalized(read(filepath.Join(chart, "Chart.yaml"))),
			"Release": values{"Name": "pix", "Namespace": "payments", "Service": "Helm"},
		}))
	}
}
