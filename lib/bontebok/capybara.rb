# frozen_string_literal: true

# `require "bontebok/capybara"` registers the server :bontebok in Capybara. Not loaded by any other file.
require "capybara"

require_relative "adapters/rackup_options"
require_relative "embedded/server"

# Serves until the thread of the caller ends: Capybara calls this block in a thread of its own, and never stops the
# server. A page may request another page from the same server while its own request runs, so several threads serve.
# options: see RackupOptions.for_server.
Capybara.register_server(:bontebok) do |app, port, host, **options|
  options = Bontebok::RackupOptions.for_server(options.merge(Host: host, Port: port))
  Bontebok::Server.new(app, threads: 4, **options).start.join
end
