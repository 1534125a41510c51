# frozen_string_literal: true

# `require "bontebok/capybara"` registers the server :bontebok in Capybara. Not loaded by any other file.
require "capybara"

require_relative "adapters/capybara_server"

Capybara.register_server(:bontebok) do |app, port, host, **options|
  Bontebok::CapybaraServer.run(app, port, host, **options)
end
