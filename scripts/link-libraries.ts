import { packagedBinaries } from '../src/db/embedded/binaries.ts'

// scripts/install.mjs runs this in place of the install script of PostgreSQL's package.
packagedBinaries()
