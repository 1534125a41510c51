# frozen_string_literal: true

module Support
  # For a LaneCase: the rack.input of a request with a given body.
  module Inputs
    TEXT = "first\nsecond\r\n\nlast without end".b.freeze
    # LONG has lines that cross the 16 KiB windows in which gets reads a spool file. With SPOOLED, a body is in a spool
    # file.
    LONG = Array.new(3000) { |n| "#{n} #{"x" * (n % 97)}\n" }.join.b.freeze
    SPOOLED = { settings: { spool_threshold: 16 } }.freeze

    private

    # Sends the body, calls the block with rack.input within the request, and returns the block's result.
    def with_input(body, **options)
      result = error = nil
      server = serve(**options) do |env|
        result = yield env["rack.input"]
        LaneCase::OK
      rescue Exception => e # rubocop:disable Lint/RescueException -- Minitest's exceptions are no StandardError
        error = e
        LaneCase::OK
      end
      server.request("POST", "/", {}, body)
      server.await_requests(1)
      raise error if error

      result
    end
  end
end
