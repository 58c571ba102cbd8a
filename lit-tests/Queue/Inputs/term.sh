# Starts two workers with the script $1, ends the script by TERM, and checks that no process named in the file $2 is left.
# SPDX-License-Identifier: Apache-2.0
bash "$1" redis://localhost/q 2 &
script=$!
until [ "$(wc -l < "$2")" = 2 ]; do sleep 0.1; done
kill "$script"
wait "$script"
[ $? = 143 ] || exit 1
for worker in $(cat "$2"); do
  if kill -0 "$worker" 2> /dev/null; then exit 1; fi
done
