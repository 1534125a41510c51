# frozen_string_literal: true

require_relative "config/environment"

use Rack::Lint
run Rails.application
Rails.application.load_server
