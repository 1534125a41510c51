# frozen_string_literal: true

# Bontebok, an application server for Rack. This file is for programs that require the gem by its name. It loads little:
# the class Server and the C extension are loaded when the program uses Server. The executable requires bontebok/cli/cli
# instead.
module Bontebok
  autoload :Server, "bontebok/embedded/server"
  autoload :StartError, "bontebok/start_error"
end

require_relative "bontebok/version"
require_relative "bontebok/request_timeout"
require_relative "bontebok/workers/stats/this_server"

# Rails::Server is defined in `rails server`, Sinatra::Base in a program that has loaded Sinatra.
if defined?(Rails::Server) && ENV.key?("BONTEBOK_LISTENERS")
  require_relative "bontebok/adapters/rails_process"
  Bontebok::RailsProcess.keep_descriptors
end

if defined?(Rails::Server) || defined?(Sinatra::Base)
  require_relative "bontebok/adapters/default_handler"
  Bontebok::DefaultHandler.offer(rails: defined?(Rails::Server), sinatra: defined?(Sinatra::Base) && Sinatra::Base)
end
