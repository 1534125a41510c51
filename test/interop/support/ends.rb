# frozen_string_literal: true

module Interop
  # Assertions about the exit of a server that rackup or `rails server` has started. Test cases include this module.
  module Ends
    BACKTRACE = /Interrupt|SignalException|\.rb:\d+:in /

    # The application must print "in flight", and then respond with the content of the file "gate".
    def assert_term_lets_a_request_finish(server, target, fields = {})
      File.mkfifo(File.join(temp_dir, "gate"))
      server.connect do |client|
        client.request("GET", target, fields)
        server.wait_for_output(/^in flight$/)
        server.signal("TERM")
        server.wait_for_output(/ stopping$/)
        File.write(File.join(temp_dir, "gate"), "through")
        assert_equal "through", client.read_response.body
      end
      assert_ended server
    end

    # Call this after a signal was sent to the server.
    def assert_ended(server)
      assert_equal 0, server.wait.exitstatus
      server.wait_for_group
      server.output.wait_for_end
      refute_match BACKTRACE, server.output.text
    end
  end
end
