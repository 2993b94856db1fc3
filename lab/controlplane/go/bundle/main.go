// Validates an OLM bundle with operator-framework's own validators.
//
// The project's operator-verify only logs what it finds and exits 0; a test needs to be told. Findings go to stdout, one
// JSON document a line; the exit code is 1 when one of them is an error, 2 when the bundle cannot be read.
//
// With --crds it prints the definitions of OLM's own resources instead, so that an API server without OLM can be asked
// about a ClusterServiceVersion.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/operator-framework/api/crds"
	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/validation"
	"github.com/operator-framework/api/pkg/validation/errors"
	interfaces "github.com/operator-framework/api/pkg/validation/interfaces"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// All there are but three: multiarch pulls the images, the community's rules are those of one catalogue, and the first
// of the two for OperatorHub is deprecated for the second.
var validators = interfaces.Validators{
	validation.PackageManifestValidator,
	validation.ClusterServiceVersionValidator,
	validation.CustomResourceDefinitionValidator,
	validation.BundleValidator,
	validation.OperatorHubV2Validator,
	validation.StandardCategoriesValidator,
	validation.StandardCapabilitiesValidator,
	validation.ObjectValidator,
	validation.OperatorGroupValidator,
	validation.AlphaDeprecatedAPIsValidator,
	validation.GoodPracticesValidator,
}

type finding struct {
	Level  string `json:"level"`
	Object string `json:"object"`
	Detail string `json:"detail"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: bundle-validate DIRECTORY (the one with manifests/ and metadata/) | --crds")
		os.Exit(2)
	}
	if os.Args[1] == "--crds" {
		definitions()
		return
	}
	bundle, err := manifests.GetBundleFromDir(os.Args[1])
	if err != nil || bundle == nil {
		fmt.Fprintf(os.Stderr, "%s is no bundle: %v\n", os.Args[1], err)
		os.Exit(2)
	}
	wrong := false
	for _, result := range validators.Validate(bundle.ObjectsToValidate()...) {
		tell("error", result.Name, result.Errors)
		tell("warning", result.Name, result.Warnings)
		wrong = wrong || result.HasError()
	}
	if wrong {
		os.Exit(1)
	}
}

func definitions() {
	lines := json.NewEncoder(os.Stdout)
	for _, crd := range []*apiextensions.CustomResourceDefinition{
		crds.ClusterServiceVersion(), crds.CatalogSource(), crds.OperatorGroup(), crds.Subscription(),
	} {
		if err := lines.Encode(crd); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
}

func tell(level, object string, found []errors.Error) {
	lines := json.NewEncoder(os.Stdout)
	for _, each := range found {
		if err := lines.Encode(finding{Level: level, Object: object, Detail: each.Error()}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
}
