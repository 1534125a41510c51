# frozen_string_literal: true

require_relative "deploy/first_error"

module Bontebok
  # What the clients of the control socket learn about a deploy. At first, the standard error of an executed master is a
  # pipe to the supervisor. So the clients also get errors of Bundler and Ruby. Used by Deploy.
  class DeployReport
    BYTES = 4096
    # Reads per call. The supervisor has other work, even if the master never stops writing.
    MOST = 16

    # reader: the pipe. clients: the ControlClients that wait for the end of the deploy. ordered: false: the supervisor
    # replaces a dead master.
    def initialize(reader, clients, log, ordered: false)
      @reader = reader
      @clients = clients
      @log = log
      @ordered = ordered
      @error = Deploy::FirstError.new
    end

    # True if somebody has ordered the deploy, and nobody waits for its end.
    def unheard? = ordered? && client.nil?

    def ordered? = @ordered

    # The first error that the master has written, as far as #take has read it; nil: none.
    def error = @error.line

    # Readable when the master has written something, or has ended; an empty list: nothing more will come.
    def source
      @reader.closed? ? [] : [@reader]
    end

    # copy: the text goes to the log as well, because the master does not write to the log yet.
    def take(copy:)
      MOST.times do
        break if source.empty?

        text = @reader.read_nonblock(BYTES, exception: false)
        return if text == :wait_readable
        return close_and_finish if text.nil?

        @log.copy(text) if copy
        @error.add(text)
        @clients.each { |client| client.tell(text) }
      end
    end

    # A client that still waits, or nil.
    def client
      @clients.find { |client| !client.closed? }
    end

    def say(text)
      @clients.each { |client| client.say(text) }
    end

    # Only the first end is told.
    def finish(status, text)
      status, text = @end if @end
      @clients.each { |client| client.finish(status, text) }.clear
    end

    # Tells the clients the end when the master has written all that it will write.
    def finish_at_end(status, text)
      @end ||= [status, text]
      close_and_finish if source.empty?
    end

    # Does not finish the clients: in a forked process, they belong to the supervisor.
    def close
      @reader.close
    end

    private

    def close_and_finish
      close
      finish(*@end) if @end
    end
  end
end
