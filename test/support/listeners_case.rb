# frozen_string_literal: true

require "bontebok/config/config"
require "bontebok/sockets/listeners"
require "bontebok/log/log"

module Support
  # The base of tests of Bontebok::Listeners. The listeners are closed at the end of the test.
  class ListenersCase < TestCase
    def setup
      @log = IO.pipe
    end

    def teardown
      @opened.to_a.each do |listeners|
        listeners.unlink
        listeners.close
      end
      @log.each(&:close)
    end

    private

    def listeners(*addresses, **options)
      written = options.merge(listen: addresses)
      config = Bontebok::Config.new(written, env: {})
      (@opened ||= []).push(Bontebok::Listeners.of(config, log: Bontebok::Log.new(@log.last))).last
    end

    def listening(*addresses, **options)
      listeners(*addresses, **options).tap(&:bind).tap(&:listen)
    end

    def assert_fails(message, &)
      error = assert_raises(Bontebok::StartError, &)
      assert_operator message, :===, error.message
      assert_equal 1, error.exit_status
    end
  end
end
