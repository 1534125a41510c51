# frozen_string_literal: true

require "socket"

module Bontebok
  # One end of the line between a process and the one that it forked. It is the life line as well: the other process's
  # death, however it came, is heard as :closed. So nobody else may hold an end: of those that a fork inherits, Child
  # closes all but the new process's own, and where the application forks ForkGuard closes all.
  #
  #   child to parent    :loaded   the application is here; may I listen?
  #                      :ready    I serve
  #                      :whole    all my workers serve (a master)
  #                      :leave    I should go: signalled from outside, enough requests, or the application's wish
  #                      :hung     a request takes longer than RequestTimeout
  #                      :stuck    in each of my threads one does
  #                      :emptied  and nothing else is left in here
  #   parent to child    :go       the sockets listen: serve
  #                      :reopen   open the log files anew
  #                      :drain    finish what is queued and in flight, then end
  #                      :retire   finish what is in flight, then end: others go on listening
  #                      :quit     end now
  #   and to a master    :renew    replace the workers
  #                      :renew_slowly    one after the other
  #                      :more, :fewer    have one worker more, one less
  #                      :kill     kill the workers that are left
  class Channel
    BYTES = { loaded: "l", ready: "r", whole: "w", leave: "e", hung: "h", stuck: "u", emptied: "x", go: "g",
              reopen: "o", drain: "d", retire: "t", quit: "q", renew: "n", renew_slowly: "s", more: "+", fewer: "-",
              kill: "k" }.freeze
    WORDS = BYTES.invert.freeze

    attr_reader :to_io

    @all = []

    class << self
      # All that this process holds.
      attr_reader :all

      # The parent's end and the child's.
      def pair
        UNIXSocket.pair.map { |socket| new(socket) }
      end

      # In a forked process: closes what was inherited, but for its own.
      def disown(except: nil)
        (all - [except]).each(&:close)
      end
    end

    def initialize(socket)
      @to_io = socket
      Channel.all << self
    end

    # What nobody hears any more is lost; the listener of this end hears :closed.
    def say(word)
      @to_io.write_nonblock(BYTES.fetch(word), exception: false)
    rescue SystemCallError, IOError
      nil
    end

    # For somebody who says these words without us: [descriptor, bytes].
    def dictate(*words)
      [@to_io.fileno, BYTES.fetch_values(*words).join]
    end

    # Every word that has come, oldest first; :closed when the other process is gone. Never blocks.
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
