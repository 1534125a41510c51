# frozen_string_literal: true

# Bontebok, an application server for Rack. This file is for programs that require the gem by its name. The executable
# requires bontebok/cli/cli instead.
module Bontebok
end

require_relative "bontebok/version"
require_relative "bontebok/cli/cli"
require_relative "bontebok/request_timeout"
