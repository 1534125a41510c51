# frozen_string_literal: true

require_relative "listener_list"
require_relative "../system/error_text"
require_relative "worker_links"

module Bontebok
  # All listening sockets of a server. The started process creates them, and the processes that it forks inherit them.
  class Listeners
    include Enumerable

    # The listeners of a configuration. For adopted and former see ListenerList. Former listeners that the configuration
    # does not have are closed. For stored and other see #initialize. Raises StartError.
    def self.of(config, log:, adopted: [], former: [], stored: false, other: nil)
      list = ListenerList.of(config, adopted: adopted, former: former)
      own = list - former - [*other&.provide(list)]
      links = other&.join(list)
      new(list, log: log, own: own, worker_links: links, stored: stored, other: other).tap { |all| all.drop(former) }
    end

    # own: those listeners of the list that #bind and #listen open. worker_links: the WorkerLinks, if they exist.
    # stored: a service manager keeps the listeners if the started process dies (ListenerStore). other: the OtherServer
    # that has given listeners or the shared queue, or nil.
    def initialize(list, log:, own: list, worker_links: nil, stored: false, other: nil)
      @listeners = list
      @log = log
      @own = own
      @worker_links = worker_links
      @stored = stored
      @other = other
      @listening = false
    end

    # The OtherServer, or nil.
    attr_reader :other

    # Returns the Listeners of the next configuration. #bind and #listen open the addresses that are new in it. names: a
    # HostNames::Table. Raises StartError.
    def next(config, names)
      list = ListenerList.of(config, former: @listeners, names: names)
      Listeners.new(list, log: @log, own: list - @listeners, worker_links: @worker_links, stored: @stored,
                          other: @other)
    end

    def stored? = @stored

    def each(&)
      @listeners.each(&)
    end

    # The WorkerLinks, which the workers share. #bind creates it.
    attr_reader :worker_links

    # Binds all sockets or none. Raises StartError.
    def bind
      @own.each(&:bind)
      @worker_links ||= WorkerLinks.open
      @worker_links.totals.count_losses(@log)
    rescue StartError
      discard
      raise
    end

    # Makes all sockets listen, or none. Raises StartError.
    def listen
      @own.each(&:listen)
      @listening = true
    rescue StartError
      discard
      raise
    end

    # Called when the server is ready. Other servers that share sockets with this server may stop.
    def own
      each(&:own)
      @other&.release
    end

    # Closes the sockets that these Listeners have opened.
    def discard
      @own.each { |listener| close_one(listener) }
    end

    # Called when these Listeners replace the former ones. Closes the sockets that only the former ones have.
    def take_effect(former)
      drop(former.to_a)
      @own = @listeners
      @listening = true
    end

    # Closes those of the listeners that are not in the list.
    def drop(former)
      (former - @listeners).each { |listener| close_one(listener) }
    end

    def listening? = @listening

    # Removes the files of unix sockets (see #unlink), and closes the sockets. The files of the WorkerLinks stay open.
    def close
      each { |listener| close_one(listener) }
      @worker_links&.close_queue
      @other&.leave
      @other&.close
    end

    # Runs the block, which closes the sockets. Then ends the listening for all copies of these sockets. A process that
    # was forked may have copies, and clients could still connect to an address that nobody serves. Without free
    # descriptors, the sockets are only closed.
    def end_for_all
      copies = filter_map { |listener| copy(listener.socket) }
      yield
    ensure
      copies&.each { |copy| shut_down(copy) }
    end

    # The StartServer of the first socket that start_server has passed; nil: no such socket.
    def start_server = grep(AdoptedListener).filter_map(&:start_server).first

    # Called in a process that the application has forked.
    def disown
      [*self, *@worker_links, *@other].each(&:disown)
    end

    # Called in a process that inherited the sockets, when the sockets listen. Notes which files are the server's.
    def take_note
      grep(UnixListener).each(&:take_note)
    end

    # Called in a process that inherited the sockets, when the process that called #listen is gone. After this call,
    # #unlink removes the files, except files of stored sockets: these sockets still listen, for the next server.
    def take_over
      grep(UnixListener).each(&:take_over) unless @stored
    end

    # Removes the files of unix sockets, so that no client connects to a server that ends. Does nothing in a process
    # that has called neither #listen nor #take_over. An error is only logged.
    def unlink
      grep(UnixListener) { |listener| unlink_one(listener) }
    end

    private

    # The file is removed first. After the close, nobody could tell whether it is still the server's.
    def close_one(listener)
      unlink_one(listener) if listener.is_a?(UnixListener)
      listener.close
    end

    def unlink_one(listener)
      listener.unlink
    rescue SystemCallError => e
      @log.warn("cannot remove #{listener}: #{ErrorText.of(e)}")
    end

    # Returns nil if there is no open socket, or no free descriptor.
    def copy(socket)
      socket.dup unless socket.nil? || socket.closed?
    rescue Errno::EMFILE, Errno::ENFILE
      nil
    end

    # ENOTCONN: the socket does not listen.
    def shut_down(socket)
      socket.shutdown
    rescue Errno::ENOTCONN
      nil
    ensure
      socket.close
    end
  end
end
