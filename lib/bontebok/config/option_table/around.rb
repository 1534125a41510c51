# frozen_string_literal: true

require_relative "../option"
require_relative "../option_values"

module Bontebok
  module OptionTable
    # The options of the process itself: directory, user, files.
    module Around
      include OptionValues

      TITLE = "System"

      OPTIONS = [
        Option.new("Directory", FILE, nil,
                   "Working directory of the server. The server changes to it before anything else, and relative " \
                   "file names begin there. If the configuration file sets Directory, this applies to the file names " \
                   "in all of its lines. But Ruby code before that line runs in the former directory.",
                   section: TITLE, default_text: "current directory"),
        Option.new("User", ACCOUNT, nil,
                   "User of the application, a name or a number. Only root can start a server with another user. " \
                   "The supervisor stays root and binds the addresses; a master becomes the user before it loads " \
                   "anything. HOME, USER and LOGNAME are set as well.",
                   section: TITLE, default_text: "unchanged"),
        Option.new("Group", ACCOUNT, nil,
                   "Group of the application, a name or a number. It needs User.",
                   section: TITLE, default_text: "User's group"),
        Option.new("Umask", OptionTypes::FileMode.new, nil,
                   "Permissions that new files do not get. 0027 is an example. It applies to log files and to the " \
                   "files of the application, not to unix sockets (SocketMode).",
                   section: TITLE, default_text: "unchanged"),
        Option.new("Tag", TAG, nil,
                   "End of the workers' process titles. It distinguishes the servers of a machine.",
                   section: TITLE, default_text: "name of the directory"),
        Option.new("Pidfile", PATH, nil,
                   "File for the server's process id. It holds the id of the process that was started, and is " \
                   "removed when that process ends. If the file holds the id of another server that still runs, the " \
                   "start fails.",
                   section: TITLE),
        Option.new("RestartFile", FILE, nil,
                   "File whose change reloads the application. A new master loads the application and forks new " \
                   "workers. The old workers serve until all new workers are ready. The server looks at the file " \
                   "every 2 s. No effect with MaxWorkers 0.",
                   section: TITLE)
      ].freeze
    end
  end
end
