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
        Option.new("directory", FILE, nil,
                   "Working directory of the server. The server enters it first, and relative file names begin " \
                   "there. If the configuration file sets directory, relative file names in all lines of the file " \
                   "begin there. Ruby code before the line with directory runs in the former directory.",
                   section: TITLE, default_text: "current directory"),
        Option.new("user", USER, nil,
                   "User of the application, as in app or app:www. Each part is a name or a number. Without :GROUP, " \
                   "the group is the user's own. Only root can start a server with another user. The supervisor " \
                   "stays root and binds the addresses. A master changes to the user before it loads the " \
                   "application. HOME, USER and LOGNAME are set for this user.",
                   section: TITLE, default_text: "unchanged"),
        Option.new("umask", OptionTypes::FileMode.new, nil,
                   "Permissions that new files do not get. An example is 0027. The umask applies to log files and to " \
                   "the files of the application, but not to unix sockets (socket_mode).",
                   section: TITLE, default_text: "unchanged"),
        Option.new("tag", TAG, nil,
                   "Suffix of the workers' process titles. The suffix distinguishes several servers on one machine.",
                   section: TITLE, default_text: "name of the directory"),
        Option.new("pidfile", PATH, nil,
                   "File for the server's process id. It has the id of the process that was started, and is removed " \
                   "when that process exits. If the file has the id of another running server, the start fails.",
                   section: TITLE),
        Option.new("control", CONTROL, nil,
                   "Unix socket for commands. `bontebok deploy` and the like connect to it. Only root, the user who " \
                   "runs the server, and user may connect. By default, the socket is tmp/bontebok.control if there " \
                   "is a directory tmp; otherwise it is in $RUNTIME_DIRECTORY, $XDG_RUNTIME_DIR or " \
                   "/tmp/bontebok-UID. none: the server takes no commands.",
                   section: TITLE, default_text: "tmp/bontebok.control"),
        Option.new("restart_file", FILE, nil,
                   "File to touch for a deploy, as with the signal USR2. The server checks the file every 2 s. " \
                   "Under `rails server`, the default is tmp/restart.txt.",
                   section: TITLE)
      ].freeze
    end
  end
end
