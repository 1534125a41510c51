# frozen_string_literal: true

module Support
  # A LaneCase includes this module to test rack.input with a given body.
  module Inputs
    TEXT = "first\nsecond\r\n\nlast without end".b.freeze
    # gets reads a spool file in windows of 16 KiB. LONG has lines that cross the borders of these windows. With the
    # options SPOOLED, the body is in a spool file.
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
