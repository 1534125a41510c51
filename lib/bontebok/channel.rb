# frozen_string_literal: true

require "socket"

module Bontebok
  # One end of the line between a process and the one that it forked. It is the life line as well: nobody else holds
  # the ends, so that the other process's death, however it came, is heard as :closed.
  #
  #   child to parent    :loaded   the application is here; may I listen?
  #                      :ready    I serve
  #                      :leave    I should go: signalled from outside, or enough requests served
  #   parent to child    :go       the sockets listen: serve
  #                      :drain    finish what is in flight, then end
  #                      :quit     end now
  class Channel
    BYTES = { loaded: "l", ready: "r", leave: "e", go: "g", drain: "d", quit: "q" }.freeze
    WORDS = BYTES.invert.freeze

    attr_reader :to_io

    # The parent's end and the child's.
    def self.pair
      UNIXSocket.pair.map { |socket| new(socket) }
    end

    def initialize(socket)
      @to_io = socket
    end

    # What nobody hears any more is lost; the listener of this end hears :closed.
    def say(word)
      @to_io.write_nonblock(BYTES.fetch(word), exception: false)
    rescue SystemCallError, IOError
      nil
    end

    # Every word that has come, oldest first; :closed when the other process is gone. Never blocks.
    def hear
      case bytes = @to_io.read_nonblock(64, exception: false)
      when :wait_readable then []
      when nil then [:closed]
      else bytes.each_char.map { |byte| WORDS.fetch(byte) }
      end
    rescue SystemCallError
      [:closed]
    end

    def close
      @to_io.close
    end
    alias disown close
  end
end
