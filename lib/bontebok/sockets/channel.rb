# frozen_string_literal: true

require "socket"

require_relative "../system/no_signal"

module Bontebok
  # One end of the socket pair between a process and its forked child. The messages are the words below. If the other
  # process ends for any reason, #hear returns :closed. A third process must not have a copy of an end, because the copy
  # would keep the socket pair open. After a fork, ForkedProcess closes all inherited ends except the new process's
  # own. In a process that the application forks, ForkGuard closes all ends.
  #
  #   child to parent    :loaded   the application is loaded; the child waits for :go
  #                      :prepared the child can serve, and waits for :serve
  #                      :ready    the child serves
  #                      :whole    all workers serve (from a master)
  #                      :failed   the workers do not become ready, so the child ends (from a master)
  #                      :crashed  a worker that served has ended, but nobody has told it to (from a master)
  #                      :leave    replace the child: a signal, a limit (requests, age, memory) or the application
  #                                asks for it
  #                      :max_requests, :max_worker_age, :max_worker_memory, :signal, :application
  #                                why the child says :leave next; without one of these words: descriptors have run out
  #                      :hung     a request takes longer than request_timeout
  #                      :stuck    each thread of the child has a request that takes longer than request_timeout
  #                      :emptied  the child is stuck and has no other connection
  #                      :waits    the child was told to end, and only waits for hijacked connections and streams
  #   parent to child    :go       the sockets listen: serve; again: no other generation serves (to a master)
  #                      :serve    serve now (to a worker that is prepared); start workers again (to a master)
  #                      :reopen   open the log files again
  #                      :drain    finish queued connections and requests in flight, then end
  #                      :retire   finish requests in flight, then end; other processes continue to listen
  #                      :hurry    few seconds are left to end (follows :retire)
  #                      :quit     end without finishing requests
  #   also to a master   :renew    replace the workers
  #                      :renew_slowly    replace the workers one after the other
  #                      :more, :fewer    start one more worker, retire one worker
  #                      :kill     kill the workers that are left
  #                      :park     retire the workers, but do not end
  #                      :serving  the generation has taken effect: companions may run (see Companion)
  #                      :announce, :recall    show clients and load balancers that the server will stop, or show it
  #                                no longer
  class Channel
    BYTES = { loaded: "l", ready: "r", whole: "w", leave: "e", hung: "h", stuck: "u", emptied: "x", waits: "i",
              prepared: "z", failed: "f", crashed: "c", go: "g", reopen: "o", drain: "d", retire: "t", quit: "q",
              renew: "n", renew_slowly: "s", more: "+", fewer: "-", kill: "k", park: "p", serve: "v", serving: "j",
              announce: "a", recall: "b", hurry: "y", max_requests: "1", max_worker_age: "2", max_worker_memory: "3",
              signal: "4", application: "5" }.freeze
    WORDS = BYTES.invert.freeze

    attr_reader :to_io

    @all = []

    # Words that #hear returns at once.
    MOST = 64

    class << self
      # All channels of this process.
      attr_reader :all
      # The Log in which an unknown word is noted. Processes that are forked inherit it.
      attr_writer :log

      # The word, or nil: another version of Bontebok may know more words. The first unknown one is logged.
      def word(byte)
        WORDS.fetch(byte) do
          @log&.warn("ignores the message #{byte.inspect}: another version of bontebok has sent it") unless @unknown
          @unknown = byte
          nil
        end
      end

      # Returns the parent's end and the child's end.
      def pair
        UNIXSocket.pair.map { |socket| new(socket) }
      end

      # fileno: of the descriptor that an executed process has inherited. Raises SystemCallError or ArgumentError.
      def inherit(fileno)
        new(UNIXSocket.for_fd(fileno).tap { |socket| socket.close_on_exec = true })
      end

      # fileno: as in .inherit; this descriptor stays open. Raises SystemCallError.
      def copy(fileno)
        new(UNIXSocket.for_fd(fileno).tap { |socket| socket.autoclose = false }.dup)
      end

      # Sends the words that wait. Supervisor and master call this in their loops, and look at .full? before they wait.
      def flush
        all.each(&:flush)
      end

      # True if words wait, because the other process does not read its channel.
      def full?
        all.any? { |channel| !channel.unsent.empty? }
      end

      # Called in a forked process. Closes the inherited channels, except its own.
      def disown(except: nil)
        (all - [except]).each(&:close)
      end
    end

    # The bytes of the words that wait, because the socket has no room.
    attr_reader :unsent

    def initialize(socket)
      @to_io = socket
      @unsent = +""
      Channel.all << self
    end

    # Never blocks. If the socket has no room (for about 270 words), the word waits. If the other process is gone, the
    # word is lost, and #hear returns :closed.
    def say(word)
      send_later(BYTES.fetch(word))
      flush
    end

    # bytes: the result of #unsent in a former program of this process.
    def send_later(bytes)
      @unsent << bytes
    end

    # Sends the words that wait, in their order, as far as the socket has room. A handler of a signal that says a word
    # meanwhile finds no word that is being sent.
    def flush
      return if @unsent.empty?

      bytes = @unsent
      @unsent = +""
      count = @to_io.sendmsg_nonblock(bytes, NoSignal::FLAG, exception: false)
      @unsent.prepend(count == :wait_writable ? bytes : bytes.byteslice(count..))
    rescue SystemCallError, IOError
      @unsent.clear
    end

    # Returns [descriptor, bytes], with which the core sends the words itself, even while a thread keeps Ruby's lock.
    def dictate(*words)
      [@to_io.fileno, BYTES.fetch_values(*words).join]
    end

    # Returns the words that have arrived, oldest first, at most MOST, without unknown ones. Returns [:closed] if the
    # other process has ended. Never blocks. Sends the words that wait.
    def hear
      flush
      case bytes = @to_io.read_nonblock(MOST, exception: false)
      when :wait_readable then []
      when nil then [:closed]
      else bytes.each_char.filter_map { |byte| Channel.word(byte) }
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
