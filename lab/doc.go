// Package lab owns the nouns of the host: Study, Plan, Trial and errors.
package lab
