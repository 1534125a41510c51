# frozen_string_literal: true

require "bontebok/option_table"
require "bontebok/unix_listener"

module Support
  # A test of listeners on unix sockets, @path unless it says otherwise. They are closed when it ends.
  class UnixListenerCase < TestCase
    def setup
      @path = File.join(temp_dir, "a.sock")
      @opened = []
    end

    def teardown
      @opened.each do |listener|
        listener.unlink
        listener.close
      end
    end

    private

    def listener(path = @path)
      @opened.push(Bontebok::UnixListener.new(Bontebok::Address.parse("unix:#{path}"), backlog: 8)).last
    end

    def listening(path = @path)
      listener(path).tap(&:bind).tap(&:listen)
    end
  end
end
