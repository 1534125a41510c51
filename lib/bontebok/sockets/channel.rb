# frozen_string_literal: true

require "socket"

module Bontebok
  # One end of the socket pair between a process and the child that it forked. It also reports the death of the other
  # process: however that process ends, #hear returns :closed. So no third process may hold an end. After a fork, Child
  # closes all inherited ends but the new process's own. In a process that the application forks, ForkGuard closes all
  # ends.
  #
  #   child to parent    :loaded   the application is loaded; the child waits for :go
  #                      :ready    the child serves
  #                      :whole    all workers serve (from a master)
  #                      :leave    replace the child: by a signal, after enough requests, or for the application
  #                      :hung     a request takes longer than RequestTimeout
  #                      :stuck    each of the child's threads has such a request
  #                      :emptied  the same, and the child has no other connection
  #   parent to child    :go       the sockets listen: serve
  #                      :reopen   open the log files again
  #                      :drain    finish queued connections and requests in flight, then end
  #                      :retire   finish requests in flight, then end: other processes go on listening
  #                      :quit     end now
  #   also to a master   :renew    replace the workers
  #                      :renew_slowly    replace the workers one after the other
  #                      :more, :fewer    have one worker more, have one worker less
  #                      :kill     kill the workers that are left
  class Channel
    BYTES = { loaded: "l", ready: "r", whole: "w", leave: "e", hung: "h", stuck: "u", emptied: "x", go: "g",
              reopen: "o", drain: "d", retire: "t", quit: "q", renew: "n", renew_slowly: "s", more: "+", fewer: "-",
              kill: "k" }.freeze
    WORDS = BYTES.invert.freeze

    attr_reader :to_io

    @all = []

    class << self
      # All channels of this process.
      attr_reader :all

      # Returns the parent's end and the child's end.
      def pair
        UNIXSocket.pair.map { |socket| new(socket) }
      end

      # For a forked process: closes the inherited channels, except its own.
      def disown(except: nil)
        (all - [except]).each(&:close)
      end
    end

    def initialize(socket)
      @to_io = socket
      Channel.all << self
    end

    # If the other process is gone, the word is lost, and #hear returns :closed.
    def say(word)
      @to_io.write_nonblock(BYTES.fetch(word), exception: false)
    rescue SystemCallError, IOError
      nil
    end

    # Returns [descriptor, bytes]. With these the core writes the words itself, even while Ruby hangs.
    def dictate(*words)
      [@to_io.fileno, BYTES.fetch_values(*words).join]
    end

    # Returns every word that has come, oldest first; :closed if the other process is gone. Never blocks.
    def hear
      case bytes = @to_io.read_nonblock(64, exception: false)
      when :wait_readable then []
      when nil then [:closed]
      else bytes.each_char.filter_map { |byte| WORDS[byte] }
      end
    rescue SystemCallError
      [:closed]
    end

    def close
      Channel.all.delete(self)
      @to_io.close
    end
  end
end
