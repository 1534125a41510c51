# frozen_string_literal: true

# Bontebok, an application server for Rack. This file is for those who require the gem by its name; the executable
# requires bontebok/cli, and what it needs from there.
module Bontebok
end

require_relative "bontebok/version"
require_relative "bontebok/cli/cli"
require_relative "bontebok/request_timeout"
