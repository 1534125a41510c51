# frozen_string_literal: true

require "rack/lint"

# Rack::Lint for applications that hijack. They answer [-1, {}, []], but Rack::Lint refuses the status -1. So Rack::Lint
# checks an empty 200 instead, and the server gets the response of the application.
class HijackLint
  HIJACKED = -1

  def initialize(app)
    @app = app
  end

  def call(env)
    hijacked = nil
    lint = Rack::Lint.new(lambda { |checked|
      response = @app.call(checked)
      next response unless response.first == HIJACKED

      hijacked = response
      [200, {}, []]
    })
    response = lint.call(env)
    hijacked || response
  end
end
