;; Clojure's own reader and printer of EDN: the file that is named, into values and back. The fastest of many rounds, as
;; everybody's: the first of them only warm the compiler up.
(require '[clojure.edn :as edn])

(let [[path rounds] *command-line-args*
      text (slurp path)
      value (edn/read-string text)
      fastest (fn [bytes act]
                (let [took (fn [_] (let [start (System/nanoTime)] (act) (- (System/nanoTime) start)))]
                  (/ (* bytes 1000.0) (apply min (map took (range (parse-long rounds)))))))]
  (assert (= value (edn/read-string (pr-str value))))
  (println "edn-read" (fastest (alength (.getBytes text)) #(edn/read-string text)))
  (println "edn-write" (fastest (alength (.getBytes (pr-str value))) #(pr-str value)))
  (shutdown-agents))
